"""What hostile hands and bad luck do: damaged files, strangers' files, absurd commands, races and kills."""
