"""The commands of stage three: protect, attack again, keep what was done."""
