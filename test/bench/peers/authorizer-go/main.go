// The peer of the bench `authorizer`: the least that answers a SubjectAccessReview over TLS, on Go's standard library, by HTTP/1.1 and HTTP/2 as the
// client asks. It has the rules on names and lists of Secrets and on the namespace of the platform, and no log, no limit but that of a body, and no
// subjects but those in its source.
// As every measured program it says that it is ready, answers each question on standard input, and ends when that closes.
package main

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
)

const mostBody = 256 << 10

type attributes struct {
	Namespace   string `json:"namespace"`
	Verb        string `json:"verb"`
	Group       string `json:"group"`
	Resource    string `json:"resource"`
	Subresource string `json:"subresource"`
	Name        string `json:"name"`
}

type spec struct {
	ResourceAttributes *attributes `json:"resourceAttributes"`
	User               string      `json:"user"`
	Groups             []string    `json:"groups"`
}

type status struct {
	Allowed bool   `json:"allowed"`
	Denied  bool   `json:"denied,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

type asked struct {
	Spec spec `json:"spec"`
}

type answered struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Status     status `json:"status"`
}

var namedUsers = map[string]bool{"system:kube-controller-manager": true, "system:kube-scheduler": true}
var namedGroups = []string{"system:masters", "system:nodes", "system:serviceaccounts:kube-system"}
var reserved = []string{"ghtok-", "sekisho-registry-", "appsecret-"}
var reading = []string{"get", "list", "watch"}

func reasonFor(of *spec) string {
	a := of.ResourceAttributes
	if a == nil || namedUsers[of.User] || slices.ContainsFunc(of.Groups, func(group string) bool { return slices.Contains(namedGroups, group) }) {
		return ""
	}
	isSecret := a.Group == "" && a.Resource == "secrets" && a.Verb != "create"
	if a.Namespace == "sekisho-system" && (isSecret || slices.Contains(reading, a.Verb)) {
		return "the namespace sekisho-system is the platform's"
	}
	if !isSecret {
		return ""
	}
	if a.Name == "" {
		return "name one Secret"
	}
	if slices.ContainsFunc(reserved, func(prefix string) bool { return strings.HasPrefix(a.Name, prefix) }) {
		return "the Secret " + a.Name + " is the platform's"
	}
	return ""
}

func authorize(writer http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(writer, request.Body, mostBody))
	if err != nil {
		http.Error(writer, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	var review asked
	if err := json.Unmarshal(body, &review); err != nil {
		http.Error(writer, err.Error(), http.StatusBadRequest)
		return
	}
	reason := reasonFor(&review.Spec)
	response, err := json.Marshal(answered{
		APIVersion: "authorization.k8s.io/v1",
		Kind:       "SubjectAccessReview",
		Status:     status{Denied: reason != "", Reason: reason},
	})
	if err != nil {
		http.Error(writer, err.Error(), http.StatusInternalServerError)
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
