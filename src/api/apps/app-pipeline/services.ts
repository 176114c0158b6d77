// The services that each preview has for itself: instances that are made with it and deleted with it. Data and pure functions.
import { hashedName } from '../../../lib/text/bounded-name.ts'
import { previewName } from '../../names.ts'
import type { ObjectMeta } from '../../resource.ts'
import { dnsLabel } from '../../schema/fields.ts'
import { list, object, optional, text } from '../../schema/schema.ts'
import { instanceParametersField, planOfInstanceField } from '../../services/service-instance.ts'

/** `spec.template.services`. */
export const previewServicesField = list(
  object(
    {
      name: text({
        description: 'The name of the entry of `application.services` that gets it.',
        max: 40,
        pattern: dnsLabel,
      }),
      class: text({
        description:
          'The name of the ServiceClass. When it changes, each preview gets another instance, and the former one is deleted with its data.',
        max: 63,
        pattern: dnsLabel,
      }),
      plan: optional(planOfInstanceField),
      parameters: optional(instanceParametersField),
    },
    { description: 'One service that each preview has for itself.' },
  ),
  {
    description:
      'Services that each preview has for itself: the platform makes a ServiceInstance for every entry with the preview, and deletes it with all data when the preview goes. The entry of the same name in `application.services` then uses that one, whatever instance it names; other entries use the instance that they name, which all previews share. A preview of a fork gets one only where `public.services` names the entry and the ServiceClass has `allowIsolated`.',
    max: 16,
    unique: ['name'],
  },
)

type OwnService = { readonly name: string; readonly class: string }

/** Another class, which an instance cannot change to, is another instance; so is that of an AppPipeline that was made again. */
export function previewInstanceName(
  { name: pipeline, uid = '' }: Pick<ObjectMeta, 'name' | 'uid'>,
  number: number,
  entry: OwnService,
): string {
  const of = [uid, number, entry.name, entry.class].join('/')
  return hashedName(`${previewName(pipeline, number)}-${entry.name}`, 63, { of, length: 8 })
}

type Uses<U> = {
  readonly services?: readonly OwnService[] | undefined
  readonly application: { readonly services?: readonly U[] | undefined }
}

/** `application.services` of a preview: each entry that has an instance of its own names that one. */
export function previewServices<U extends { readonly name: string; readonly instance?: string }>(
  pipeline: Pick<ObjectMeta, 'name' | 'uid'>,
  number: number,
  { services = [], application }: Uses<U>,
): readonly U[] | undefined {
  const own = new Map(services.map(entry => [entry.name, previewInstanceName(pipeline, number, entry)]))
  return application.services?.map(use => {
    const instance = own.get(use.name)
    return instance === undefined || use.instance === undefined ? use : { ...use, instance }
  })
}
