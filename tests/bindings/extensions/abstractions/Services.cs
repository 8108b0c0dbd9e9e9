// Services of a program: singletons, with keys and without, each made when it is first asked for.
using System;
using System.Collections.Generic;

namespace Microsoft.Extensions.DependencyInjection
{
    public enum ServiceLifetime
    {
        Singleton = 0,
        Scoped = 1,
        Transient = 2
    }

    public class ServiceDescriptor
    {
        public ServiceDescriptor(Type serviceType, object? serviceKey, Func<IServiceProvider, object?, object> factory, ServiceLifetime lifetime)
        {
            ServiceType = serviceType;
            ServiceKey = serviceKey;
            KeyedImplementationFactory = factory;
            Lifetime = lifetime;
        }

        public Type ServiceType { get; }

        public object? ServiceKey { get; }

        public Func<IServiceProvider, object?, object> KeyedImplementationFactory { get; }

        public ServiceLifetime Lifetime { get; }
    }

    public interface IServiceCollection : IList<ServiceDescriptor>
    {
    }

    public class ServiceCollection : System.Collections.ObjectModel.Collection<ServiceDescriptor>, IServiceCollection
    {
    }

    public static class ServiceCollectionServiceExtensions
    {
        public static IServiceCollection AddSingleton<TService>(this IServiceCollection services, Func<IServiceProvider, TService> implementationFactory)
            where TService : class
        {
            return services.AddKeyedSingleton(null, (provider, key) => implementationFactory(provider));
        }

        public static IServiceCollection AddKeyedSingleton<TService>(this IServiceCollection services, object? serviceKey,
                                                                     Func<IServiceProvider, object?, TService> implementationFactory)
            where TService : class
        {
            services.Add(new ServiceDescriptor(typeof(TService), serviceKey, implementationFactory, ServiceLifetime.Singleton));
            return services;
        }
    }

    public interface IKeyedServiceProvider : IServiceProvider
    {
        object? GetKeyedService(Type serviceType, object? serviceKey);

        object GetRequiredKeyedService(Type serviceType, object? serviceKey);
    }

    public sealed class ServiceProvider : IKeyedServiceProvider, IDisposable
    {
        private readonly ServiceCollection _services = new ServiceCollection();
        private readonly Dictionary<ServiceDescriptor, object> _made = new Dictionary<ServiceDescriptor, object>();

        internal ServiceProvider(IServiceCollection services)
        {
            foreach (ServiceDescriptor service in services) _services.Add(service);
        }

        public object? GetService(Type serviceType) { return GetKeyedService(serviceType, null); }

        public object? GetKeyedService(Type serviceType, object? serviceKey)
        {
            lock (_made)
            {
                foreach (ServiceDescriptor service in _services)
                {
                    if (service.ServiceType != serviceType || !Equals(service.ServiceKey, serviceKey)) continue;
                    if (!_made.TryGetValue(service, out object? made)) _made.Add(service, made = service.KeyedImplementationFactory(this, serviceKey));
                    return made;
                }
                return null;
            }
        }

        public object GetRequiredKeyedService(Type serviceType, object? serviceKey)
        {
            return GetKeyedService(serviceType, serviceKey) ?? throw new InvalidOperationException("no service " + serviceType);
        }

        public void Dispose()
        {
            foreach (object made in _made.Values) (made as IDisposable)?.Dispose();
        }
    }

    public static class ServiceCollectionContainerBuilderExtensions
    {
        public static ServiceProvider BuildServiceProvider(this IServiceCollection services) { return new ServiceProvider(services); }
    }

    public static class ServiceProviderServiceExtensions
    {
        public static T GetService<T>(this IServiceProvider provider) { return (T)provider.GetService(typeof(T))!; }

        public static T GetRequiredService<T>(this IServiceProvider provider) where T : notnull
        {
            return (T)(provider.GetService(typeof(T)) ?? throw new InvalidOperationException("no service " + typeof(T)));
        }
    }

    public static class ServiceProviderKeyedServiceExtensions
    {
        public static T GetRequiredKeyedService<T>(this IServiceProvider provider, object? serviceKey) where T : notnull
        {
            return (T)((IKeyedServiceProvider)provider).GetRequiredKeyedService(typeof(T), serviceKey);
        }
    }
}
