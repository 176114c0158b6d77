// Gives the pods of tenants the RuntimeClass that the platform admin chose for the tenant (Tenant.spec.runtimeClass), whoever
// makes them: charts, release jobs, kpack, Dockerfile builds, people. Another class that a pod names stays, and the rule
// pod-runtime-class refuses it.
import { labels } from '../../api/names.ts'
import { runtimeClassOfPod } from '../rules/pods/runtime-class-of-pod.ts'
import { addPatch, type Mutation, newPods } from './mutation.ts'

export const runtimeClassMutation: Mutation = {
  name: 'pod-runtime-class',
  scope: 'tenant-namespaces',
  label: labels.runtimeClass,
  match: newPods,
  policy: () => ({
    variables: runtimeClassOfPod('object.metadata'),
    patches: [
      "variables.class == '' || object.spec.?runtimeClassName.orValue('') != '' ? []",
      `: [${addPatch("'/spec/runtimeClassName'", 'variables.class')}]`,
    ].join(' '),
  }),
}
