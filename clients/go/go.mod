module tinct

go 1.19
