//go:build admission && !bare

// A minimal validating webhook in Go as one would run it. It decodes reviews into the types of k8s.io/api, in which objects stay raw
// (runtime.RawExtension), then the object of each review into the type of its kind, and has one rule for each kind that it is sent: the reserved name
// of Secrets, references to those in pods, and who asked for a resource of our kinds. It has no other rule.
// encoding/json is the cheapest way to these types. The deserializer of apimachinery, by which controller-runtime's webhooks decode review and
// object (pkg/webhook/admission/http.go and decode.go), takes a third to a half more.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func reserved(name string) bool { return strings.HasPrefix(name, reservedPrefix) }

func reservedIn(containers []corev1.Container) bool {
	for _, container := range containers {
		for _, variable := range container.Env {
			if from := variable.ValueFrom; from != nil && from.SecretKeyRef != nil && reserved(from.SecretKeyRef.Name) {
				return true
			}
		}
		for _, from := range container.EnvFrom {
			if from.SecretRef != nil && reserved(from.SecretRef.Name) {
				return true
			}
		}
	}
	return false
}

func reservedInPod(spec *corev1.PodSpec) bool {
	for _, volume := range spec.Volumes {
		if volume.Secret != nil && reserved(volume.Secret.SecretName) {
			return true
		}
		if volume.Projected == nil {
			continue
		}
		for _, source := range volume.Projected.Sources {
			if source.Secret != nil && reserved(source.Secret.Name) {
				return true
			}
		}
	}
	for _, pull := range spec.ImagePullSecrets {
		if reserved(pull.Name) {
			return true
		}
	}
	return reservedIn(spec.Containers) || reservedIn(spec.InitContainers)
}

// Of a resource of our kinds, for which k8s.io/api has no type.
type requested struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		RequestedBy string `json:"requestedBy"`
	} `json:"spec"`
}

func isRequester(request *admissionv1.AdmissionRequest) (bool, error) {
	var object, old requested
	if err := json.Unmarshal(request.Object.Raw, &object); err != nil {
		return false, err
	}
	if request.Operation == admissionv1.Create {
		return object.Spec.RequestedBy == request.UserInfo.Username, nil
	}
	if err := json.Unmarshal(request.OldObject.Raw, &old); err != nil {
		return false, err
	}
	return object.Spec.RequestedBy == old.Spec.RequestedBy, nil
}

func namesNothingReserved(request *admissionv1.AdmissionRequest) (bool, error) {
	switch request.Kind.Kind {
	case "Secret":
		var secret corev1.Secret
		err := json.Unmarshal(request.Object.Raw, &secret)
		return !reserved(secret.Name), err
	case "Pod":
		var pod corev1.Pod
		err := json.Unmarshal(request.Object.Raw, &pod)
		return !reservedInPod(&pod.Spec), err
	case "Deployment":
		var deployment appsv1.Deployment
		err := json.Unmarshal(request.Object.Raw, &deployment)
		return !reservedInPod(&deployment.Spec.Template.Spec), err
	default:
		return false, fmt.Errorf("no rule for %s", request.Kind.Kind)
	}
}

func judge(request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
	check := namesNothingReserved
	if strings.HasSuffix(request.Kind.Group, ".sekisho.dev") {
		check = isRequester
	}
	allowed, err := check(request)
	if err != nil {
		return nil, err
	}
	response := &admissionv1.AdmissionResponse{UID: request.UID, Allowed: allowed}
	if !allowed {
		response.Result = &metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: refusal}
	}
	return response, nil
}

func answer(body []byte) ([]byte, error) {
	var asked admissionv1.AdmissionReview
	if err := json.Unmarshal(body, &asked); err != nil || asked.Request == nil {
		return nil, errors.New("no AdmissionReview")
	}
	response, err := judge(asked.Request)
	if err != nil {
		return nil, err
	}
	return json.Marshal(&admissionv1.AdmissionReview{TypeMeta: asked.TypeMeta, Response: response})
}
