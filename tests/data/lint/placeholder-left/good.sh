#!/bin/bash
#SBATCH --account=proj-yourk
#SBATCH --output=a-yourk.out
hostname
