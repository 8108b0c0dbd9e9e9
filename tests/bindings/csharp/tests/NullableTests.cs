#if NET6_0_OR_GREATER
// Every public name of the binding says of each reference whether it may be null.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using Inlay;

static class NullableTests
{
    const BindingFlags Own = BindingFlags.Public | BindingFlags.Instance | BindingFlags.Static | BindingFlags.DeclaredOnly;

    static bool IsSaid(NullabilityInfo info)
    {
        if (info.Type.IsPointer || info.Type.IsByRef && info.Type.GetElementType().IsPointer) return true;
        return info.ReadState != NullabilityState.Unknown && (info.ElementType == null || IsSaid(info.ElementType))
               && info.GenericTypeArguments.All(IsSaid);
    }

    static bool MayBeNull(PropertyInfo property) { return new NullabilityInfoContext().Create(property).ReadState == NullabilityState.Nullable; }

    public static void EveryReferenceSaysIfItMayBeNull()
    {
        var context = new NullabilityInfoContext();
        var unsaid = new List<string>();
        int n = 0;
        Action<string, NullabilityInfo> look = (name, info) =>
        {
            n++;
            if (!IsSaid(info)) unsaid.Add(name);
        };
        foreach (Type type in typeof(Engine).Assembly.GetExportedTypes().Where(t => !t.IsEnum && !typeof(Delegate).IsAssignableFrom(t)))
        {
            foreach (FieldInfo field in type.GetFields(Own)) look(type.Name + "." + field.Name, context.Create(field));
            foreach (PropertyInfo property in type.GetProperties(Own)) look(type.Name + "." + property.Name, context.Create(property));
            foreach (MethodInfo method in type.GetMethods(Own).Where(m => !m.IsSpecialName))
            {
                look(type.Name + "." + method.Name + ", result", context.Create(method.ReturnParameter));
                foreach (ParameterInfo p in method.GetParameters()) look(type.Name + "." + method.Name + ", " + p.Name, context.Create(p));
            }
        }
        Expect.True(n > 300, "names looked at: " + n);
        Expect.True(unsaid.Count == 0, "nothing is said of " + string.Join("; ", unsaid));
    }

    public static void OptionsThatNeedNotBeSetMayBeNull()
    {
        foreach (Type type in new[] { typeof(LoadOptions), typeof(SessionOptions), typeof(SamplerOptions), typeof(GenerateOptions), typeof(ProfileOptions) })
        {
            object fresh = Activator.CreateInstance(type);
            foreach (PropertyInfo property in type.GetProperties().Where(p => !p.PropertyType.IsValueType))
            {
                Expect.Equal(property.GetValue(fresh) == null, MayBeNull(property), type.Name + "." + property.Name + " may be null");
            }
        }
        Expect.True(!MayBeNull(typeof(Engine).GetProperty("Plan")), "a text that there always is");
        Expect.True(MayBeNull(typeof(Session).GetProperty("Tag")), "a tag that nobody set");
    }
}
#endif
