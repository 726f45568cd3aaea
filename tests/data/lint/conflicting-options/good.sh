#!/bin/bash
#SBATCH --mem=4G
#SBATCH --cpus-per-task=2
hostname
