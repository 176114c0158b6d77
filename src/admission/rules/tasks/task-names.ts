// Whose command a pod runs, by its name: what begins with `sekisho-run-<id>-` is a Job that this person made, or a pod of such a
// Job. The API server does not show the pod to admission when somebody attaches to it, so only its name can prove whose it is
// (docs/adr/0074-a-shell-is-a-pod-of-ones-own.md).

import { taskNamePrefix, taskNamePrefixOf } from '../../../api/task-names.ts'
import { personPattern } from '../../../api/tenancy/subject-patterns.ts'
import { type JsonObject, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import { celText, type Rule } from '../../rule.ts'
import { isKubernetes, isKubernetesExpression } from '../kinds/writers.ts'

const message = `names that begin with ${taskNamePrefix} are of the commands of one person: only a Job of your own may begin with ${taskNamePrefix}<your id on GitHub>-, as sekisho run and sekisho shell name it; choose another name`

/** Every kind that is a pod, or whose name begins the names of pods. */
const matches: Rule['matches'] = [
  { group: '', resources: ['pods', 'replicationcontrollers'], operations: ['CREATE'] },
  { group: 'apps', resources: ['deployments', 'replicasets', 'statefulsets', 'daemonsets'], operations: ['CREATE'] },
  { group: 'batch', resources: ['jobs', 'cronjobs'], operations: ['CREATE'] },
]

function reservedNames(object: JsonObject | undefined): readonly string[] {
  const metadata = objectAt(object, 'metadata')
  return [textAt(metadata, 'name'), textAt(metadata, 'generateName')].filter(
    (name): name is string => name?.startsWith(taskNamePrefix) === true,
  )
}

const isOfTask = (pod: JsonObject | undefined): boolean =>
  objectsAt(objectAt(pod, 'metadata'), 'ownerReferences').some(
    owner =>
      owner['controller'] === true &&
      owner['apiVersion'] === 'batch/v1' &&
      owner['kind'] === 'Job' &&
      textAt(owner, 'name')?.startsWith(taskNamePrefix) === true,
  )

/** CEL: the user is a person; as `parseUserSubject`. */
export const isPersonExpression = `request.userInfo.username.matches(${celText(personPattern)})`
/** CEL: what the names of the person's own begin with; only for people. */
export const ownPrefixExpression = `(${celText(taskNamePrefix)} + request.userInfo.username.split('|')[2] + '-')`

export const taskNames: Rule = {
  name: 'task-names',
  stops: 'making a pod whose name says that it is a command of another person, or of one’s own when it is something else',
  scope: 'application-namespaces',
  administratorsMay: true,
  exempts: {
    kubernetesPrefixes: {
      does: 'makes the pods of a Job, whose names begin with that of the Job',
      follows: [{ template: '`metadata.name` of a Job', judgedBy: ['task-names'] }],
    },
  },
  matches,
  check(request, identities) {
    const { resource, object, username } = request
    const names = reservedNames(object)
    if (names.length === 0) return undefined
    if (resource === 'pods') return isKubernetes(request, identities) && isOfTask(object) ? undefined : message
    const own = taskNamePrefixOf(username)
    return resource === 'jobs' && own !== undefined && names.every(name => name.startsWith(own)) ? undefined : message
  },
  policy: identities => ({
    variables: [
      {
        name: 'names',
        expression: `[dyn(object).metadata.?name.orValue(''), dyn(object).metadata.?generateName.orValue('')].filter(n, n.startsWith(${celText(taskNamePrefix)}))`,
      },
    ],
    validation: {
      expression: [
        'variables.names.size() == 0',
        `(request.resource.resource == 'jobs' && ${isPersonExpression} && variables.names.all(n, n.startsWith(${ownPrefixExpression})))`,
        `(request.resource.resource == 'pods' && ${isKubernetesExpression(identities)} && dyn(object).metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false) && o.apiVersion == 'batch/v1' && o.kind == 'Job' && o.name.startsWith(${celText(taskNamePrefix)})))`,
      ].join(' || '),
      message,
    },
  }),
}
