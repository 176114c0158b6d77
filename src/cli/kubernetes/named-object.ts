// `<kind>/<name>` as people write it: the kind in any case, singular or plural, with its group as `kubectl get -o name` has it,
// or one of its short names. Pure.
import type { ResourceType } from '../../api/resource.ts'
import { AppError } from '../../lib/errors.ts'
import {
  applications,
  appPipelines,
  buckets,
  domainClaims,
  installations,
  remoteSyncs,
  repositoryGrants,
  serviceBindings,
  serviceInstances,
} from './kinds.ts'
import { didYouMean } from './similar-names.ts'

export type NamedObject = { readonly type: ResourceType; readonly name: string }

/** Beside kind and plural; those of the definitions, and the words that people use. */
const shortNames = new Map<ResourceType, readonly string[]>([
  [applications, ['sapp', 'app', 'apps']],
  [remoteSyncs, ['rsync', 'sync']],
  [appPipelines, ['apipe', 'pipeline', 'pipelines']],
  [repositoryGrants, ['grant', 'grants', 'rgrant']],
  [installations, ['inst']],
  [domainClaims, ['domain', 'domains']],
  [serviceInstances, ['svci', 'database', 'databases']],
  [buckets, []],
  [serviceBindings, ['svcb']],
])

/** Throws `invalid_request`, which says how it is written. Without a kind an Application is meant. */
export function namedObject(text: string): NamedObject {
  const [first = '', second, ...more] = text.split('/')
  const [word, name] = second === undefined ? ['application', first] : [first.toLowerCase(), second]
  if (name === '' || more.length > 0)
    throw new AppError('invalid_request', `${text}: write a kind and a name, such as application/shop or remotesync/shop`)
  const words = new Map(
    [...shortNames].flatMap(([type, short]) => {
      const [kind, group = ''] = [type.kind.toLowerCase(), type.apiVersion.split('/')[0]]
      return [kind, type.plural, `${kind}.${group}`, `${type.plural}.${group}`, ...short].map(one => [one, type] as const)
    }),
  )
  const type = words.get(word)
  if (type !== undefined) return { type, name }
  const kinds = [...shortNames.keys()].map(({ kind }) => kind.toLowerCase())
  throw new AppError('invalid_request', `${word} is not one of ${kinds.join(', ')}${didYouMean(word, [...words.keys()])}`)
}
