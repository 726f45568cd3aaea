#!/bin/bash
#SBATCH --requeue
#SBATCH --output=train-%j.out
hostname
