// The part of an Application that this program reads and writes, as a Go type that controller-runtime can cache. Its Releases are in release.go.
package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var groupVersion = schema.GroupVersion{Group: "apps.sekisho.dev", Version: "v1alpha1"}

type Process struct {
	Name       string `json:"name"`
	Port       int32  `json:"port,omitempty"`
	Replicas   int32  `json:"replicas"`
	HealthPath string `json:"healthPath,omitempty"`
	CPU        string `json:"cpu,omitempty"`
	Memory     string `json:"memory,omitempty"`
}

type Variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type ApplicationSpec struct {
	Chart     string     `json:"chart"`
	Image     string     `json:"image,omitempty"`
	Commit    string     `json:"commit,omitempty"`
	Processes []Process  `json:"processes"`
	Env       []Variable `json:"env,omitempty"`
}

type Entry struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
}

type Rollout struct {
	Release   int64  `json:"release"`
	StartedAt string `json:"startedAt"`
}

type Phases struct {
	Release    int64  `json:"release"`
	ReleasedAt string `json:"releasedAt"`
	AppliedAt  string `json:"appliedAt,omitempty"`
}

type ApplicationStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	Inventory          []Entry            `json:"inventory,omitempty"`
	URL                string             `json:"url,omitempty"`
	AppliedAt          string             `json:"appliedAt,omitempty"`
	LatestRelease      int64              `json:"latestRelease,omitempty"`
	ReleasedGeneration int64              `json:"releasedGeneration,omitempty"`
	Rollout            *Rollout           `json:"rollout,omitempty"`
	Phases             *Phases            `json:"phases,omitempty"`
	Replicas           *int32             `json:"replicas,omitempty"`
}

type Application struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ApplicationSpec   `json:"spec"`
	Status            ApplicationStatus `json:"status,omitempty"`
}

type ApplicationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Application `json:"items"`
}

func addToScheme(scheme *runtime.Scheme) {
	scheme.AddKnownTypes(groupVersion, &Application{}, &ApplicationList{}, &Release{}, &ReleaseList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
}

func (in ApplicationSpec) copied() ApplicationSpec {
	in.Processes = append([]Process(nil), in.Processes...)
	in.Env = append([]Variable(nil), in.Env...)
	return in
}

func pointerTo[T any](in *T) *T {
	if in == nil {
		return nil
	}
	out := *in
	return &out
}

func (in *Application) DeepCopy() *Application {
	out := &Application{TypeMeta: in.TypeMeta, Spec: in.Spec.copied(), Status: in.Status}
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Inventory = append([]Entry(nil), in.Status.Inventory...)
	out.Status.Conditions = append([]metav1.Condition(nil), in.Status.Conditions...)
	out.Status.Rollout = pointerTo(in.Status.Rollout)
	out.Status.Phases = pointerTo(in.Status.Phases)
	out.Status.Replicas = pointerTo(in.Status.Replicas)
	return out
}

func (in *Application) DeepCopyObject() runtime.Object { return in.DeepCopy() }

func (in *ApplicationList) DeepCopyObject() runtime.Object {
	out := &ApplicationList{TypeMeta: in.TypeMeta}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Application, len(in.Items))
	for i := range in.Items {
		out.Items[i] = *in.Items[i].DeepCopy()
	}
	return out
}
