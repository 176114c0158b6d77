//go:build admission && bare

// The least that can answer an AdmissionReview, on Go's standard library: a lower bound of the bench, not a webhook that anybody could run. It looks into
// Secrets for a reserved name, and allows everything else without having decoded the object, so that it could hold no rule about what is in a pod or a
// resource of our kinds.
package main

import (
	"encoding/json"
	"errors"
	"strings"
)

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
	if strings.HasPrefix(object.Metadata.Name, reservedPrefix) {
		response.Allowed = false
		response.Status = &status{Code: 403, Reason: "Forbidden", Message: refusal}
	}
	return response, nil
}

func answer(body []byte) ([]byte, error) {
	var asked admissionReview
	if err := json.Unmarshal(body, &asked); err != nil || asked.Request == nil {
		return nil, errors.New("no AdmissionReview")
	}
	response, err := judge(asked.Request)
	if err != nil {
		return nil, err
	}
	return json.Marshal(admissionReview{APIVersion: asked.APIVersion, Kind: asked.Kind, Response: response})
}
