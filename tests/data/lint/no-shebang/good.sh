#!/bin/bash
#SBATCH --nodes=1
hostname
