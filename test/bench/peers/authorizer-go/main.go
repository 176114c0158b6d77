// The server of the peers of the bench `authorizer`: it reads SubjectAccessReviews over TLS, by HTTP/1.1 and HTTP/2 as the client asks, and has no log, no
// limit but that of a body, and no named subjects but those below. What it makes of a review is in typed.go, or with the build tag `bare` in bare.go.
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
	"slices"
	"strings"
)

const mostBody = 256 << 10

// The empty texts are what the review leaves out.
type asking struct{ verb, group, resource, namespace, name string }

var namedUsers = map[string]bool{"system:kube-controller-manager": true, "system:kube-scheduler": true}
var namedGroups = []string{"system:masters", "system:nodes", "system:serviceaccounts:kube-system"}
var reserved = []string{"ghtok-", "sekisho-registry-", "appsecret-"}
var reading = []string{"get", "list", "watch"}

func isNamed(user string, groups []string) bool {
	return namedUsers[user] || slices.ContainsFunc(groups, func(group string) bool { return slices.Contains(namedGroups, group) })
}

func reasonFor(a asking) string {
	isSecret := a.group == "" && a.resource == "secrets" && a.verb != "create"
	if a.namespace == "sekisho-system" && (isSecret || slices.Contains(reading, a.verb)) {
		return "the namespace sekisho-system is the platform's"
	}
	if !isSecret {
		return ""
	}
	if a.name == "" {
		return "name one Secret"
	}
	if slices.ContainsFunc(reserved, func(prefix string) bool { return strings.HasPrefix(a.name, prefix) }) {
		return "the Secret " + a.name + " is the platform's"
	}
	return ""
}

func authorize(writer http.ResponseWriter, request *http.Request) {
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
	handler.HandleFunc("/authorize", authorize)
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
		fmt.Fprintln(os.Stderr, "usage: authorizer-go certificate.pem key.pem")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
