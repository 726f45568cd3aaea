#!/bin/bash
#SBATCH --output=%x-%j.out
#SBATCH --error=/scratch/me/logs/%j.err
hostname
