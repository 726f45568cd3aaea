#!/bin/bash
#SBATCH --segment=4
hostname
