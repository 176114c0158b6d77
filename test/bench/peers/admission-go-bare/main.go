// The least that can answer an AdmissionReview, on Go's standard library: a lower bound of the bench `admission`, not a webhook that anybody could
// run. It reads reviews over TLS, looks into Secrets for a reserved name, and allows everything else without having decoded the object, so that
// it could hold no rule about what is in a pod or a resource of our kinds. It has no log and no limit.
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
	"strings"
)

const mostBody = 8 << 20

type groupVersionResource struct {
	Group    string `json:"group"`
	Version  string `json:"version"`
	Resource string `json:"resource"`
}

type userInfo struct {
	Username string   `json:"username"`
	Groups   []string `json:"groups"`
}

// Objects stay raw, as in k8s.io/api/admission/v1, until a rule asks for one.
type admissionRequest struct {
	UID       string               `json:"uid"`
	Resource  groupVersionResource `json:"resource"`
	Name      string               `json:"name"`
	Namespace string               `json:"namespace"`
	Operation string               `json:"operation"`
	UserInfo  userInfo             `json:"userInfo"`
	Object    json.RawMessage      `json:"object"`
	OldObject json.RawMessage      `json:"oldObject"`
}

type status struct {
	Code    int    `json:"code"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

type admissionResponse struct {
	UID     string  `json:"uid"`
	Allowed bool    `json:"allowed"`
	Status  *status `json:"status,omitempty"`
}

type admissionReview struct {
	APIVersion string             `json:"apiVersion"`
	Kind       string             `json:"kind"`
	Request    *admissionRequest  `json:"request,omitempty"`
	Response   *admissionResponse `json:"response,omitempty"`
}

type named struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
}

func judge(request *admissionRequest) (*admissionResponse, error) {
	response := &admissionResponse{UID: request.UID, Allowed: true}
	if request.Resource.Resource != "secrets" || request.Operation == "DELETE" {
		return response, nil
	}
	var object named
	if err := json.Unmarshal(request.Object, &object); err != nil {
		return nil, err
	}
	if strings.HasPrefix(object.Metadata.Name, "ghtok-") {
		response.Allowed = false
		response.Status = &status{Code: 403, Reason: "Forbidden", Message: "this name belongs to the platform"}
	}
	return response, nil
}

func review(writer http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(writer, request.Body, mostBody))
	if err != nil {
		http.Error(writer, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	var asked admissionReview
	if err := json.Unmarshal(body, &asked); err != nil || asked.Request == nil {
		http.Error(writer, "no AdmissionReview", http.StatusBadRequest)
		return
	}
	response, err := judge(asked.Request)
	if err != nil {
		http.Error(writer, err.Error(), http.StatusBadRequest)
		return
	}
	answer, err := json.Marshal(admissionReview{APIVersion: asked.APIVersion, Kind: asked.Kind, Response: response})
	if err != nil {
		http.Error(writer, err.Error(), http.StatusInternalServerError)
		return
	}
	writer.Header().Set("Content-Type", "application/json")
	writer.Write(answer)
}

func run(certificate, key string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	handler := http.NewServeMux()
	handler.HandleFunc("/validate/", review)
	handler.HandleFunc("/mutate", review)
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
		fmt.Fprintln(os.Stderr, "usage: admission-go-bare certificate.pem key.pem")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
