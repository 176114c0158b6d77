//go:build authorizer && !bare

// A minimal authorizer in Go as one would run it: it decodes reviews into the types of k8s.io/api, as the authorizers in Kubernetes' documentation do,
// and has the rules on names and lists of Secrets and on the namespace of the platform.
package main

import (
	"encoding/json"

	authorizationv1 "k8s.io/api/authorization/v1"
)

func answer(body []byte) ([]byte, error) {
	var review authorizationv1.SubjectAccessReview
	if err := json.Unmarshal(body, &review); err != nil {
		return nil, err
	}
	response := authorizationv1.SubjectAccessReview{TypeMeta: review.TypeMeta}
	if a := review.Spec.ResourceAttributes; a != nil && !isNamed(review.Spec.User, review.Spec.Groups) {
		response.Status.Reason = reasonFor(asking{a.Verb, a.Group, a.Resource, a.Namespace, a.Name})
		response.Status.Denied = response.Status.Reason != ""
	}
	return json.Marshal(response)
}
