// Where the files of credentials are in the pods of an Application. Pure.
import type { Application } from '../../../api/apps/application.ts'
import { bindingFiles } from '../../../api/services/application-services.ts'

const folderPattern = /^(\/[A-Za-z0-9_-][A-Za-z0-9_.-]*)+$/

/** Below which the files are; undefined for a value of the Application's own that is not such a path. */
export function filesFolder({ env = [] }: Pick<Application['spec'], 'env'>): string | undefined {
  const own = env.find(({ name }) => name === bindingFiles.variable)
  if (own === undefined) return bindingFiles.folder
  return own.value !== undefined && folderPattern.test(own.value) ? own.value : undefined
}
