// The objects of a folder of manifests as kustomize renders them, and their deletion.
import { parseAllDocuments, stringify } from 'yaml'
import type { Kubectl } from '../kubectl.ts'

export type RenderedObject = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

/** @param folder With a kustomization. */
export async function renderedObjects(kubectl: Kubectl, folder: string): Promise<readonly RenderedObject[]> {
  const text = await kubectl.run(['kustomize', folder])
  return parseAllDocuments(text).map(document => document.toJS() as RenderedObject)
}

/** The same for the same object in every version of its API. */
export function identityOf({ apiVersion, kind, metadata }: RenderedObject): string {
  const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['']
  return [group, kind, metadata.namespace ?? '', metadata.name].join('/')
}

/** Resolves when they are gone; those that do not exist are left out. */
export async function deleteAll(kubectl: Kubectl, objects: readonly RenderedObject[]): Promise<void> {
  if (objects.length === 0) return
  const text = objects.map(object => stringify(object)).join('---\n')
  await kubectl.deleteText(text)
}
