#!/bin/bash
#SBATCH --time=24:00
hostname
