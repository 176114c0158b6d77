// The two manifests of an application, as `sekisho create` applies them and `sekisho init` writes them. Pure.

import { AppError } from '../../../lib/errors.ts'
import { defined } from '../../../lib/json/defined.ts'
import { applications, remoteSyncs } from '../../kubernetes/kinds.ts'
import { isDnsLabel, type Wanted } from './wanted.ts'

export type Manifest = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly spec: Readonly<Record<string, unknown>>
}

export type Manifests = { readonly application: Manifest; readonly remoteSync: Manifest }

/** Throws `invalid_request` for a repository that is not written as `owner/name`. */
export function repositoryIn(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/[A-Za-z0-9._-]{1,100}$/.test(text)) return text
  throw new AppError('invalid_request', `${text.slice(0, 100)}: write the repository as owner/name, such as acme/shop`)
}

/** The name of the Application of a repository or folder: its own in lower case. Throws `invalid_request` without any. */
export function nameFrom(text: string): string {
  const name = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^[^a-z]+|-+$/g, '')
    .slice(0, 40)
    .replace(/-+$/, '')
  if (isDnsLabel(name)) return name
  throw new AppError('invalid_request', `no name for the Application follows from ${text.slice(0, 60)}: give one`)
}

/** What is not set is left out, so that the platform's defaults count. */
export function manifestsOf({
  name,
  namespace,
  repository,
  installation,
  branch,
  subPath,
  build,
  application,
}: Wanted): Manifests {
  const metadata = { name, ...defined({ namespace }) }
  return {
    application: { apiVersion: applications.apiVersion, kind: applications.kind, metadata, spec: application },
    remoteSync: {
      apiVersion: remoteSyncs.apiVersion,
      kind: remoteSyncs.kind,
      metadata,
      spec: {
        installation,
        repository,
        source: branch === undefined ? {} : { branch },
        ...defined({ subPath }),
        build,
        application: name,
      },
    },
  }
}
