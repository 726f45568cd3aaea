#!/bin/bash
#SBATCH --mem=4G
#SBATCH --mem-per-cpu=2G
hostname
