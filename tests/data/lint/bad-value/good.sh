#!/bin/bash
#SBATCH --time=1-00:00:00
#SBATCH --mem=32gb
#SBATCH --nodes=2-4
hostname
