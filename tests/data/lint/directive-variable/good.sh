#!/bin/bash
#SBATCH --output=%x-%j.out
#SBATCH --comment="costs $5"
echo "$HOME"
