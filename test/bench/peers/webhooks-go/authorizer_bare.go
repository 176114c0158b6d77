//go:build authorizer && bare

// The least that can answer a SubjectAccessReview, on Go's standard library: a lower bound of the bench. It decodes the fields that its rules need.
package main

import "encoding/json"

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

func answer(body []byte) ([]byte, error) {
	var review asked
	if err := json.Unmarshal(body, &review); err != nil {
		return nil, err
	}
	response := answered{APIVersion: "authorization.k8s.io/v1", Kind: "SubjectAccessReview"}
	if a := review.Spec.ResourceAttributes; a != nil && !isNamed(review.Spec.User, review.Spec.Groups) {
		response.Status.Reason = reasonFor(asking{a.Verb, a.Group, a.Resource, a.Namespace, a.Name})
		response.Status.Denied = response.Status.Reason != ""
	}
	return json.Marshal(response)
}
