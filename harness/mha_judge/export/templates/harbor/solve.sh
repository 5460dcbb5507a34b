#!/bin/sh
set -e
cp /solution/{{ one.file }} /app/{{ one.file }}
