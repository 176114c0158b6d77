// Every mutation. A new one is a file here and one line below.
import type { Mutation } from './mutation.ts'
import { runtimeClassMutation } from './pod-runtime-class.ts'
import { userMutation } from './pod-users.ts'
import { serviceProxyMutation } from './service-proxy.ts'

export const mutations: readonly Mutation[] = [userMutation, runtimeClassMutation, serviceProxyMutation]
