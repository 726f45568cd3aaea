#!/bin/bash
#SBATCH --output=train~%j.out
hostname
