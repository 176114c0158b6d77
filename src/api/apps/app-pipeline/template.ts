// What every preview of an AppPipeline is made of: the Application and how its image is built. The fields are those of
// Application and RemoteSync.
import { choice, map, object, optional, type Rule, type TSchema, text, withoutProperties } from '../../schema/schema.ts'
import { type Application, application } from '../application.ts'
import { buildField, pathsField, subPathField, subPathRules } from '../remote-sync/build-fields.ts'
import { publicField } from './public.ts'
import { previewServicesField } from './services.ts'

/** The fields of an Application that belong to one preview, so that no template can have them. */
const perPreview = [
  'image',
  'followTag',
  'imagePullSecrets',
  'commit',
  'domains',
  'redirects',
  'pinnedRelease',
  'restartedAt',
  'suspend',
] as const

/** The spec of the Application of a preview, without what the platform sets for each. */
export type ApplicationTemplate = Omit<Application['spec'], (typeof perPreview)[number]>

/** The rules of an Application, but those about fields that a template does not have. */
function rulesOf(schema: TSchema): readonly Rule[] {
  const rules = (schema as TSchema & { readonly 'x-kubernetes-validations'?: readonly Rule[] })['x-kubernetes-validations'] ?? []
  return rules.filter(({ fieldPath }) => !perPreview.some(field => fieldPath === `.${field}`))
}

const labelsField = map(text({ description: 'The value of the label.', min: 0, max: 63 }), {
  description: 'Labels of the Application of each preview.',
  max: 20,
})
const annotationsField = map(text({ description: 'The value of the annotation.', min: 0, max: 1024 }), {
  description: 'Annotations of the Application of each preview.',
  max: 20,
})

/** Admission keeps such keys to the platform, which is who writes the Application. */
const ownKeys: Rule = {
  rule: "!has(self.metadata) || [has(self.metadata.labels) ? self.metadata.labels : {}, has(self.metadata.annotations) ? self.metadata.annotations : {}].all(m, m.all(k, !k.startsWith('sekisho.dev/') && !k.contains('.sekisho.dev/')))",
  message: 'keys that begin with sekisho.dev/ (or contain .sekisho.dev/) belong to the platform: remove them',
  fieldPath: '.metadata',
}

/** A service that no process uses would be made for nothing. */
const ownServices: Rule = {
  rule: '!has(self.services) || self.services.all(own, has(self.application.services) && self.application.services.exists(use, use.name == own.name))',
  message:
    'every entry of services needs an entry of the same name in application.services, by which the processes get its credential',
  fieldPath: '.services',
}

/** What is asked of one kind is not silently left out for the other. */
const ownParameters: Rule = {
  rule: '!has(self.services) || self.services.all(own, !has(own.parameters) || !has(self.application.services) || self.application.services.all(use, use.name != own.name || (has(use.bucket) ? !has(own.parameters.postgresql) : !has(own.parameters.bucket))))',
  message:
    'parameters of an entry of services are those of what its entry in application.services names: postgresql of an instance, bucket of a bucket',
  fieldPath: '.services',
}

/** `spec.template`. */
export const templateField = object(
  {
    metadata: optional(
      object(
        { labels: optional(labelsField), annotations: optional(annotationsField) },
        { description: 'Labels and annotations of the Application of each preview.' },
      ),
    ),
    application: withoutProperties<ApplicationTemplate>(application.specSchema, perPreview, {
      description:
        'The spec of the Application of each preview. What differs between previews is set by the platform: image, commit, host name and whether it is suspended. Volumes are deleted with the preview, also where `whenDeleted` is `Keep`.',
      rules: rulesOf(application.specSchema),
    }),
    services: optional(previewServicesField),
    public: optional(publicField),
    source: choice(['Head', 'Merge'], {
      description:
        'Which commit of a pull request is built. `Head`: the newest commit of its branch. `Merge`: what merging it into its base branch would give, as GitHub computes it; while there is a conflict, what was built before keeps serving.',
      default: 'Head',
    }),
    subPath: optional(subPathField),
    paths: optional(pathsField),
    build: buildField,
  },
  { description: 'What every preview is made of.', rules: [...subPathRules, ownKeys, ownServices, ownParameters] },
)
