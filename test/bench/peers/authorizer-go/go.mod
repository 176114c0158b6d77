module sekisho.dev/test/bench/peers/authorizer-go

go 1.25.0
