// The services that each preview has for itself: databases and buckets that are made with it and deleted with it. Data and pure
// functions. docs/adr/0111-previews-with-a-bucket-of-their-own.md
import { hashedName } from '../../../lib/text/bounded-name.ts'
import { previewName } from '../../names.ts'
import type { ObjectMeta } from '../../resource.ts'
import { dnsLabel } from '../../schema/fields.ts'
import { list, object, optional, text } from '../../schema/schema.ts'
import { serviceOf } from '../../services/application-services.ts'
import { corsField, lifecycleField, lifecycleRule, versioningField } from '../../services/bucket.ts'
import type { BoundKind } from '../../services/service-binding.ts'
import { databaseParametersField, planOfInstanceField } from '../../services/service-instance.ts'

const parametersField = object(
  {
    postgresql: optional(databaseParametersField),
    bucket: optional(
      object(
        { versioning: optional(versioningField), cors: optional(corsField), lifecycle: optional(lifecycleField) },
        { description: 'For ServiceClasses of type `bucket`.', rules: [lifecycleRule] },
      ),
    ),
  },
  { description: 'How it is made, by the type of the ServiceClass.' },
)

/** `spec.template.services`. */
export const previewServicesField = list(
  object(
    {
      name: text({
        description:
          'The name of the entry of `application.services` that gets it: a ServiceInstance when that has `instance`, a Bucket when it has `bucket`.',
        max: 40,
        pattern: dnsLabel,
      }),
      class: text({
        description:
          'The name of the ServiceClass. When it changes, each preview gets another service, and the former one is deleted with its data.',
        max: 63,
        pattern: dnsLabel,
      }),
      plan: optional(planOfInstanceField),
      parameters: optional(parametersField),
    },
    { description: 'One service that each preview has for itself.' },
  ),
  {
    description:
      'Services that each preview has for itself: the platform makes a ServiceInstance or a Bucket for every entry with the preview, and deletes it with all data when the preview goes. The entry of the same name in `application.services` then uses that one, whatever it names; other entries use what they name, which all previews share. A preview of a fork gets one only where `public.services` names the entry and the ServiceClass has `allowIsolated`.',
    max: 16,
    unique: ['name'],
  },
)

type OwnService = { readonly name: string; readonly class: string }

/** Another class, which a service cannot change to, is another service; so is that of an AppPipeline that was made again. */
export function previewServiceName(
  { name: pipeline, uid = '' }: Pick<ObjectMeta, 'name' | 'uid'>,
  number: number,
  entry: OwnService,
): string {
  const of = [uid, number, entry.name, entry.class].join('/')
  return hashedName(`${previewName(pipeline, number)}-${entry.name}`, 63, { of, length: 8 })
}

type Use = { readonly name: string; readonly instance?: string; readonly bucket?: string }
type Uses<U> = {
  readonly services?: readonly OwnService[] | undefined
  readonly application: { readonly services?: readonly U[] | undefined }
}

/** What the service of an entry is: what its use names. */
export function previewServiceKind({ application: { services = [] } }: Uses<Use>, { name }: OwnService): BoundKind {
  return serviceOf(services.find(use => use.name === name) ?? {}).kind
}

/** `application.services` of a preview: each entry that has a service of its own names that one. */
export function previewServices<U extends Use>(
  pipeline: Pick<ObjectMeta, 'name' | 'uid'>,
  number: number,
  { services = [], application }: Uses<U>,
): readonly U[] | undefined {
  const own = new Map(services.map(entry => [entry.name, previewServiceName(pipeline, number, entry)]))
  return application.services?.map(use => {
    const name = own.get(use.name)
    if (name === undefined) return use
    return use.bucket === undefined ? { ...use, instance: name } : { ...use, bucket: name }
  })
}
