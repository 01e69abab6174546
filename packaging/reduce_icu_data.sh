#!/bin/sh
# Replaces ICU's data, of which GNUstep's Foundation needs little, in an unpacked wheel by the part for English, which
# also serves locales without a part of their own. It takes 4 MB of the wheel instead of 12: other languages' names and
# formats of dates and numbers are left out, and character sets beside those of Unicode.
#   reduce_icu_data.sh <directory of the wheel's libraries>
set -eu
library=$(ls "$1"/libicudata-*.so.*)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name=$(nm --dynamic --defined-only "$library" | sed -n 's/.* \(icudt[0-9]*\)_dat$/\1/p')
objcopy --output-target=binary --only-section=.rodata "$library" "$work/${name}l.dat" # its only symbol is the data
languages='(root|en|en_US|en_US_POSIX|pool|res_index|supplementalData|tzdbNames)\.res'
common='coll/ucadata\.icu|brkitr/.*|[a-zA-Z]{6,}[0-9]*\.res|units\.res|[a-z]+\.icu|[^/]*\.(nrm|spp)'
icupkg --list "$work/${name}l.dat" |
  grep -Ev "^(([a-z]+/)?$languages|$common)$" > "$work/removed.txt"
mkdir "$work/kept"
icupkg --remove "$work/removed.txt" "$work/${name}l.dat" "$work/kept/${name}l.dat" # its name is part of its table
cat > "$work/data.S" <<END
  .section .rodata
  .balign 16
  .globl ${name}_dat
  .type ${name}_dat, %object
${name}_dat:
  .incbin "$work/kept/${name}l.dat"
  .size ${name}_dat, .-${name}_dat
  .section .note.GNU-stack, "", %progbits
END
"${CC:-gcc}" -shared -nostdlib "-Wl,-soname,$(basename "$library")" -o "$library" "$work/data.S"
printf 'ICU data: %s bytes\n' "$(wc -c < "$library")"
