module sekisho.dev/test/bench/peers/admission-go-bare

go 1.25
