#!/bin/bash
#SBATCH --array=0-9
#SBATCH --output=sweep-%A_%3a.out
hostname
