// The numbered, immutable record of what an Application runs, with the same fields as the product's, and how it is made: before the objects that it
// is about, by creation, so that no number is used twice.
package main

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const changedByAnnotation = "sekisho.dev/changed-by"

type ReleasedApplication struct {
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Generation int64  `json:"generation,omitempty"`
}

type By struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Login string `json:"login,omitempty"`
}

type ReleaseSpec struct {
	Application ReleasedApplication `json:"application"`
	Number      int64               `json:"number"`
	Image       string              `json:"image"`
	Commit      string              `json:"commit,omitempty"`
	Hash        string              `json:"hash"`
	Snapshot    ApplicationSpec     `json:"snapshot"`
	By          By                  `json:"by"`
	Reason      string              `json:"reason"`
}

type Release struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ReleaseSpec `json:"spec"`
}

type ReleaseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Release `json:"items"`
}

func (in *Release) DeepCopy() *Release {
	out := &Release{TypeMeta: in.TypeMeta, Spec: in.Spec}
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Snapshot = in.Spec.Snapshot.copied()
	return out
}

func (in *Release) DeepCopyObject() runtime.Object { return in.DeepCopy() }

func (in *ReleaseList) DeepCopyObject() runtime.Object {
	out := &ReleaseList{TypeMeta: in.TypeMeta}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Release, len(in.Items))
	for i := range in.Items {
		out.Items[i] = *in.Items[i].DeepCopy()
	}
	return out
}

var changeRun = regexp.MustCompile(`^([1-9][0-9]*)-([1-9][0-9]*)(?:@([A-Za-z0-9_-]{1,100}))? (.+)$`)

// by names the user who made every generation since the last release, as admission recorded it.
func by(app *Application) By {
	unknown := By{Kind: "FieldManager", Name: "unknown"}
	parts := changeRun.FindStringSubmatch(app.Annotations[changedByAnnotation])
	if parts == nil {
		return unknown
	}
	first, _ := strconv.ParseInt(parts[1], 10, 64)
	last, _ := strconv.ParseInt(parts[2], 10, 64)
	if last != app.Generation || first > app.Status.ReleasedGeneration+1 {
		return unknown
	}
	return By{Kind: "User", Name: parts[4], Login: parts[3]}
}

func releaseOf(app *Application, number int64, hash string) *Release {
	reason := "SpecChanged"
	if number == 1 {
		reason = "First"
	}
	isController := true
	return &Release{
		ObjectMeta: metav1.ObjectMeta{
			Name:      fmt.Sprintf("%s-v%d", app.Name, number),
			Namespace: app.Namespace,
			Labels:    map[string]string{applicationLabel: app.Name, managedByLabel: "peer"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: groupVersion.String(), Kind: "Application", Name: app.Name, UID: app.UID, Controller: &isController,
			}},
		},
		Spec: ReleaseSpec{
			Application: ReleasedApplication{Name: app.Name, UID: string(app.UID), Generation: app.Generation},
			Number:      number,
			Image:       app.Spec.Image,
			Commit:      app.Spec.Commit,
			Hash:        hash,
			Snapshot:    app.Spec,
			By:          by(app),
			Reason:      reason,
		},
	}
}

// release returns the number of the newest Release, after it has made one when the spec says something else than the newest one.
func (r *Reconciler) release(ctx context.Context, app *Application) (int64, error) {
	hash, err := hashOf(app.Spec)
	if err != nil {
		return 0, err
	}
	var all ReleaseList
	if err := r.List(ctx, &all, client.InNamespace(app.Namespace), client.MatchingFields{ownerIndex: string(app.UID)}); err != nil {
		return 0, err
	}
	newest := app.Status.LatestRelease
	for i := range all.Items {
		if all.Items[i].Spec.Number >= newest {
			newest = all.Items[i].Spec.Number
			if all.Items[i].Spec.Hash == hash {
				return newest, nil
			}
		}
	}
	wanted := releaseOf(app, newest+1, hash)
	err = r.Create(ctx, wanted, fieldOwner)
	if !errors.IsAlreadyExists(err) {
		return newest + 1, err
	}
	// The cache is behind our own last write.
	var live Release
	if err := r.reader.Get(ctx, client.ObjectKeyFromObject(wanted), &live); err != nil {
		return 0, err
	}
	if !metav1.IsControlledBy(&live, app) || live.Spec.Hash != hash {
		return 0, fmt.Errorf("release %s exists with other content", wanted.Name)
	}
	return newest + 1, nil
}
