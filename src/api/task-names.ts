// The names of the commands that people run (`sekisho run`, `sekisho shell`), which say whose they are.
import { parseUserSubject } from './names.ts'

/**
 * Names the Application of a task. It is not the label of the Application's own pods, so that no Service and no rollout counts
 * the task; and labels of our domain belong to the platform, which refuses them on what people create.
 */
export const taskLabel = 'sekisho-cli/task-of'

/** Names of Jobs and pods that begin with this are of such commands. */
export const taskNamePrefix = 'sekisho-run-'

/**
 * What the names of a person's own begin with: `sekisho-run-<id>-`. Admission lets nobody else make such a Job, and nothing but
 * the Job such a pod, so that the name of a pod proves whose it is. Undefined for everybody but people; a platform has one
 * GitHub.
 */
export function taskNamePrefixOf(user: string): string | undefined {
  const person = parseUserSubject(user)
  return person && `${taskNamePrefix}${person.userId}-`
}
