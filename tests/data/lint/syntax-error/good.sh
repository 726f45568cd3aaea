#!/bin/bash
#SBATCH --nodes=1
if [ -n "$1" ]; then
  echo "$1"
fi
case $1 in
  a | b) echo "it's" ;;
  *) cat <<EOF ;;
$(hostname) said "x
EOF
esac
