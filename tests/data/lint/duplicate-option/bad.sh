#!/bin/bash
#SBATCH --nodes=1
#SBATCH -N 2
hostname
