#!/bin/bash
#SBATCH -N 2
#SBATCH --time=1:00:00
#SBATCH -J a=b
hostname
