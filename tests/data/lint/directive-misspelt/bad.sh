#!/bin/bash
#SBATCH --nodes=1
#sbatch --time=1:00:00
hostname
