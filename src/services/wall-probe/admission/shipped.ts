// The objects of admission that this version ships: the files of deploy/policies, which are in the image beside the sources.
// Only reads files.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { parseAllDocuments } from 'yaml'
import { asObject, objectAt, textAt } from '../../../lib/json/json-value.ts'
import type { WallName } from '../walls.ts'
import { decisive } from './compare.ts'

/** The wall that an object of this kind belongs to; other kinds are not walls. */
export const wallOfKind = {
  ValidatingAdmissionPolicy: 'validating-policies',
  ValidatingAdmissionPolicyBinding: 'validating-policies',
  MutatingAdmissionPolicy: 'mutating-policies',
  MutatingAdmissionPolicyBinding: 'mutating-policies',
  ValidatingWebhookConfiguration: 'webhook-registrations',
  MutatingWebhookConfiguration: 'webhook-registrations',
} as const satisfies Readonly<Record<string, WallName>>

export type AdmissionKind = keyof typeof wallOfKind

export type ShippedObject = { readonly kind: AdmissionKind; readonly name: string; readonly decisive: unknown }

const folder = join(import.meta.dirname, '../../../../deploy/policies')

/** Rejects when the files cannot be read, or hold no object: then nothing could be compared. */
export async function readShipped(): Promise<readonly ShippedObject[]> {
  const objects: ShippedObject[] = []
  for (const file of (await readdir(folder)).filter(name => name.endsWith('.yaml'))) {
    const text = await readFile(join(folder, file), 'utf8')
    // One file after the other, so that all of them do not hold the event loop at once.
    await setImmediate()
    for (const document of parseAllDocuments(text)) objects.push(...shippedIn(document.toJS()))
  }
  if (objects.length === 0) throw new Error(`${folder} holds no policy`)
  return objects
}

function shippedIn(document: unknown): readonly ShippedObject[] {
  const object = asObject(document)
  const kind = textAt(object, 'kind') ?? ''
  const name = textAt(objectAt(object, 'metadata'), 'name')
  return object !== undefined && name !== undefined && isAdmissionKind(kind) ? [{ kind, name, decisive: decisive(object) }] : []
}

function isAdmissionKind(kind: string): kind is AdmissionKind {
  return Object.hasOwn(wallOfKind, kind)
}
