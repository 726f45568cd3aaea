#!/bin/bash
#SBATCH --output=train.out
hostname
