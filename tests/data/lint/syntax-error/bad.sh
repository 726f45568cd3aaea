#!/bin/bash
#SBATCH --nodes=1
if [ -n "$1" ]; then
  echo "$1"
