module admission-go

go 1.25
