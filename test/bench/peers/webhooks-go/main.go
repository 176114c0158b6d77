// The server of the peers of the benches `admission` and `authorizer`: it reads reviews over TLS, by HTTP/1.1 and HTTP/2 as the client asks, and has no
// log and no limit but that of a body. A build tag with the name of the bench says which reviews: <bench>.go has their paths and rules, <bench>_typed.go
// what it makes of one, or with the tag `bare` <bench>_bare.go.
// As every measured program it says that it is ready, answers each question on standard input, and ends when that closes.
package main

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
)

func review(writer http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(writer, request.Body, mostBody))
	if err != nil {
		http.Error(writer, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	response, err := answer(body)
	if err != nil {
		http.Error(writer, err.Error(), http.StatusBadRequest)
		return
	}
	writer.Header().Set("Content-Type", "application/json")
	writer.Write(response)
}

func run(certificate, key string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	handler := http.NewServeMux()
	for _, path := range paths {
		handler.HandleFunc(path, review)
	}
	server := &http.Server{Handler: handler, TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
	failed := make(chan error, 1)
	go func() { failed <- server.ServeTLS(listener, certificate, key) }()
	fmt.Println(`{"ready":true}`)
	questions := bufio.NewScanner(os.Stdin)
	for questions.Scan() {
		fmt.Printf("{\"port\":%d}\n", listener.Addr().(*net.TCPAddr).Port)
	}
	select {
	case err := <-failed:
		return err
	default:
		return server.Close()
	}
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: webhooks-go certificate.pem key.pem")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
