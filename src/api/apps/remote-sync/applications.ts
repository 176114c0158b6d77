// The Applications that run what a RemoteSync builds: `spec.application`, and `spec.otherApplications` beside it (ADR 0076).
import { objectName } from '../../schema/fields.ts'
import { list, type Rule } from '../../schema/schema.ts'

const maxOthers = 9

/** `spec.application`. */
export const applicationField = objectName(
  'The name of the Application in this namespace that runs the image. It must exist; the RemoteSync sets its `spec.image` and `spec.commit`. The image has its name.',
)

/** `spec.otherApplications`. */
export const otherApplicationsField = list(objectName('The name of an Application in this namespace.'), {
  description:
    'Applications in this namespace that run the same image: one build for all of them, such as the workers of an API, each with its own `spec.processes`. They get image and commit after `application`, when its release job has succeeded, if it has one. What the build takes from the repository, and the environment on GitHub, are those of `application`.',
  min: 1,
  max: maxOthers,
  unique: 'set',
})

/** `status.applications`. */
export const deployedApplicationsField = list(objectName('The name of an Application.'), {
  description: 'With `spec.otherApplications`: the Applications on which `image` was set.',
  max: maxOthers + 1,
  unique: 'set',
})

/** For the object that has both fields. */
export const applicationRules: readonly Rule[] = [
  {
    rule: '!has(self.otherApplications) || !(self.application in self.otherApplications)',
    message: 'otherApplications names the Application of spec.application, too: remove it from the list',
    fieldPath: '.otherApplications',
  },
]

type Spec = { readonly application: string; readonly otherApplications?: readonly string[] }

/** The names of all Applications that run the image, that of `spec.application` first. */
export function applicationsOf({ application, otherApplications = [] }: Spec): readonly [string, ...string[]] {
  return [application, ...otherApplications]
}

/** Whether an Application of this name runs what is built. */
export function runsIn(spec: Spec, name: string): boolean {
  return applicationsOf(spec).includes(name)
}
